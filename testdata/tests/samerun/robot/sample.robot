*** Test Cases ***
It Passes
    Log    a line

It Fails
    Should Be Equal    1    2    one is not two

It Is Skipped
    [Tags]    robot:skip
    Fail

It Skips While It Runs
    Skip    needs a database

Compares <a> & "b"
    No Operation

Grüßt Die Welt 世界
    No Operation

Its Setup Breaks
    [Setup]    Fail    no database
    No Operation

Its Teardown Breaks
    No Operation
    [Teardown]    Fail    no clean up

Both Break
    Fail    first
    [Teardown]    Fail    second

Has No Keyword
    Nowhere To Be Found

Loops
    FOR    ${n}    IN RANGE    2
        Log    ${n}
    END
