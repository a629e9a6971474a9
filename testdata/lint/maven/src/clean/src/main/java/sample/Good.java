package sample;

public class Good {}
