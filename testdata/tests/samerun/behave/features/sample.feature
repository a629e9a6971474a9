Feature: arithmetic <of> "numbers" & more

  Scenario: it adds
    Given a calculator
    When I add 1 and 1
    Then I see 2

  Scenario: it fails
    Given a calculator
    When I add 1 and 1
    Then I see 3
    And I see 2

  Scenario: it has an undefined step
    Given a calculator
    When I divide by zero

  Scenario: it breaks
    When I break

  Scenario: it is pending
    When I am pending

  Scenario: it skips while it runs
    When I skip

  @skip
  Scenario: it is skipped
    Given a calculator

  Scenario Outline: it adds <a> and <b>
    Given a calculator
    When I add <a> and <b>
    Then I see <sum>

    Examples: sums
      | a | b | sum |
      | 1 | 2 | 3   |
      | 2 | 2 | 5   |

  Scenario: grüßt die Welt 世界
    Given a calculator

  @broken_hook
  Scenario: its hook fails
    Given a calculator
