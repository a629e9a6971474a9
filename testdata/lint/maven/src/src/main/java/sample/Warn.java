package sample;

import java.util.*;

public class Warn {
    @SuppressWarnings("deprecation")
    static Integer one = new Integer(1);

    void raw(Object o) {
        List list = new ArrayList();
        list.add("x");
        List<String> cast = (List<String>) o;
        switch (list.size()) {
            case 1:
                System.out.println();
            case 2:
        }
    }
}
