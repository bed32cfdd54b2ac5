// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Reads with EIP-3668: the caller fetches the data from a gateway, and this contract checks it.
contract OffchainReader {
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);
    error WrongAnswer(bytes32 question, bytes answer);

    string[] private urls;
    bytes32 private immutable answerHash;

    constructor(string[] memory urls_, bytes memory answer) {
        urls = urls_;
        answerHash = keccak256(answer);
    }

    function read(bytes32 question) external view returns (bytes memory) {
        revert OffchainLookup(
            address(this),
            urls,
            abi.encode(question),
            this.check.selector,
            abi.encode(question)
        );
    }

    function check(bytes calldata answer, bytes calldata extraData) external view returns (bytes memory) {
        if (keccak256(answer) != answerHash) revert WrongAnswer(abi.decode(extraData, (bytes32)), answer);
        return answer;
    }
}
