package sample;

import java.io.*;
import java.util.List;

public class Style {
	private String unused;
    public static String constant = null;

    public int compare(String a, String b) throws Exception {
        if (a == b) return 1;
        try { new FileInputStream(a).read(); } catch (Exception e) {}
        String n = null;
        String text = "<é & \"quoted\">";
        return n.length();
    }

    public boolean equals(Object o) { return false; }
}
