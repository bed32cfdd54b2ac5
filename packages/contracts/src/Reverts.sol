// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Fails in every way in which a contract can fail.
contract Reverts {
    error Unauthorized(address who, uint256 level, string why);
    error Closed();

    uint256[] private items;
    uint256 public level;

    function custom(address who, uint256 needed, string calldata why) external pure returns (bool) {
        revert Unauthorized(who, needed, why);
    }

    function customEmpty() external pure returns (bool) {
        revert Closed();
    }

    function reason(uint256 value) external pure returns (uint256) {
        require(value != 0, "value must not be zero");
        return value;
    }

    function bare() external pure returns (bool) {
        revert();
    }

    /// Panic 0x01.
    function asserts(uint256 value) external pure returns (uint256) {
        assert(value != 0);
        return value;
    }

    /// Panic 0x11 for the highest value.
    function overflows(uint256 value) external pure returns (uint256) {
        return value + 1;
    }

    /// Panic 0x12 for a divisor of zero.
    function divides(uint256 value, uint256 by) external pure returns (uint256) {
        return value / by;
    }

    /// Panic 0x32: there are no items.
    function item(uint256 index) external view returns (uint256) {
        return items[index];
    }

    /// A write that fails above 10.
    function setLevel(uint256 value) external {
        if (value > 10) revert Unauthorized(msg.sender, value, "at most 10");
        level = value;
    }
}
