// Generated from src/ManyEvents.sol by `npm run compile`.

/** The ABI of `ManyEvents`. */
export const manyEventsAbi = [
  {
    anonymous: false,
    inputs: [
      { indexed: true, internalType: 'uint256', name: 'index', type: 'uint256' },
      { indexed: true, internalType: 'address', name: 'by', type: 'address' },
      { indexed: true, internalType: 'bytes32', name: 'run', type: 'bytes32' },
      { indexed: false, internalType: 'string', name: 'note', type: 'string' },
      { indexed: false, internalType: 'int256', name: 'below', type: 'int256' },
    ],
    name: 'Counted',
    type: 'event',
  },
  {
    inputs: [],
    name: 'count',
    outputs: [{ internalType: 'uint256', name: '', type: 'uint256' }],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      { internalType: 'uint256', name: 'many', type: 'uint256' },
      { internalType: 'bytes32', name: 'run', type: 'bytes32' },
      { internalType: 'string', name: 'note', type: 'string' },
    ],
    name: 'emitMany',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
] as const

/** The creation bytecode of `ManyEvents`. Append the encoded constructor arguments. */
export const manyEventsBytecode: `0x${string}` =
  '0x6080604052348015600f57600080fd5b506101f68061001f6000396000f3fe608060405234801561001057600080fd5b50600436106100365760003560e01c806306661abd1461003b578063ebdb4aff14610056575b600080fd5b61004460005481565b60405190815260200160405180910390f35b6100696100643660046100ef565b61006b565b005b6000546100788582610188565b60009081555b858110156100e75784336100928385610188565b7f2c7d89c4950ead26f3de3a438e656ffed95d12493323f4ed536077f8a4d8952287876100bf8789610188565b6100c8906101a1565b6040516100d7939291906101bd565b60405180910390a460010161007e565b505050505050565b6000806000806060858703121561010557600080fd5b8435935060208501359250604085013567ffffffffffffffff81111561012a57600080fd5b8501601f8101871361013b57600080fd5b803567ffffffffffffffff81111561015257600080fd5b87602082840101111561016457600080fd5b949793965060200194505050565b634e487b7160e01b600052601160045260246000fd5b8082018082111561019b5761019b610172565b92915050565b6000600160ff1b82016101b6576101b6610172565b5060000390565b604081528260408201528284606083013760006060848301015260006060601f19601f860116830101905082602083015294935050505056'
