*** Settings ***
Suite Setup    Fail    no database for the suite

*** Test Cases ***
First
    No Operation

Second
    No Operation
