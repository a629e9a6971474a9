package sample;

public class Syntax {
    void f( {
