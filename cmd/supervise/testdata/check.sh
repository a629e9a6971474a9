# The test command of the scripts, which lies beside their projects: every function
# Test* of a *_test.sh file is a test, run in a shell of its own. It fails when its
# last command does, and what it prints is its message. The report is JUnit's.
status=0
echo '<testsuite name="m">'
for name in $(cat ./*_test.sh 2>/dev/null | sed -n 's/^\(Test[A-Za-z0-9]*\)() .*/\1/p'); do
  if said=$({ for file in ./*.sh; do . "$file"; done; $name; } 2>&1); then
    echo "<testcase name=\"$name\"/>"
  else
    printf '<testcase name="%s"><failure><![CDATA[%s]]></failure></testcase>\n' "$name" "$said"
    status=1
  fi
done
echo '</testsuite>'
exit $status
