package sample;

import java.util.*;
import nosuch.Missing;

public class Bad {
    List raw = new ArrayList();

    @Deprecated
    void old() {}

    int value() {
        String s = 1;
        raw.add("<é>");
        missing();
        new Bad().old();
    }
}
