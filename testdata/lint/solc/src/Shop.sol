pragma solidity ^0.8.0;

contract Shop {
    function price(uint order) public returns (uint) {
        uint unused = 3;
        return order + 1;
    }

    function total() public {
        string memory s = price(3);
        missing();
    }
}
