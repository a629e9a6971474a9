#include <QtTest>

class Crash : public QObject {
  Q_OBJECT
private slots:
  void price() { QCOMPARE(1 + 1, 2); }
  void discount() { qFatal("no shop"); }
  void never() {}
};

QTEST_APPLESS_MAIN(Crash)
#include "crash.moc"
