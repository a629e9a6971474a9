#include <QtTest>

class Shop : public QObject {
  Q_OBJECT
private slots:
  void initTestCase() {}
  void price() { QCOMPARE(1 + 1, 2); }
  void discount() {
    qDebug("placing an order");
    QCOMPARE(3, 4);
  }
  void taxes_data() {
    QTest::addColumn<int>("n");
    QTest::newRow("one") << 1;
    QTest::newRow("two & <more>") << 2;
    QTest::newRow("three") << 3;
  }
  void taxes() {
    QFETCH(int, n);
    QVERIFY2(n != 2, "two is taxed");
  }
  void later() { QSKIP("not on this platform"); }
  void known() {
    QEXPECT_FAIL("", "known bug 7", Continue);
    QCOMPARE(1, 2);
  }
  void fixed() {
    QEXPECT_FAIL("", "known bug 8", Continue);
    QCOMPARE(2, 2);
  }
  void warns() { qWarning("low stock"); }
  void speed() { QBENCHMARK { qHash(QString("order")); } }
  void cleanupTestCase() {}
};

QTEST_APPLESS_MAIN(Shop)
#include "shop.moc"
