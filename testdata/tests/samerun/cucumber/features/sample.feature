Feature: arithmetic <of> "numbers" & more

  Background:
    Given a calculator

  Scenario: it adds
    When I add 1 and 1
    Then I see 2

  Scenario: it fails
    When I add 1 and 1
    Then I see 3
    And I see 2

  Scenario: it has an undefined step
    When I divide by zero
    Then I see 2

  Scenario: it is pending
    When I am pending

  @skipped
  Scenario: it skips
    When I skip
    Then I see 2

  Scenario: it is ambiguous
    When I am ambiguous

  @flaky
  Scenario: it passes the second time
    When I try twice

  Scenario Outline: it adds <a> and <b>
    When I add <a> and <b>
    Then I see <sum>

    Examples:
      | a | b | sum |
      | 1 | 2 | 3   |
      | 2 | 2 | 5   |

  Rule: names may be unicode
    Scenario: grüßt die Welt 世界
      Then I see 0

  @broken-hook
  Scenario: its hook fails
    Then I see 0
