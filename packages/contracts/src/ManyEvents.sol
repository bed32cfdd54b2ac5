// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Emits a given number of events.
contract ManyEvents {
    event Counted(uint256 indexed index, address indexed by, bytes32 indexed run, string note, int256 below);

    uint256 public count;

    function emitMany(uint256 many, bytes32 run, string calldata note) external {
        uint256 start = count;
        count = start + many;
        for (uint256 i = 0; i < many; i++) emit Counted(start + i, msg.sender, run, note, -int256(start + i));
    }
}
