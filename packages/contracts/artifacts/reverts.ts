// Generated from src/Reverts.sol by `npm run compile`.

/** The ABI of `Reverts`. */
export const revertsAbi = [
  { inputs: [], name: 'Closed', type: 'error' },
  {
    inputs: [
      { internalType: 'address', name: 'who', type: 'address' },
      { internalType: 'uint256', name: 'level', type: 'uint256' },
      { internalType: 'string', name: 'why', type: 'string' },
    ],
    name: 'Unauthorized',
    type: 'error',
  },
  {
    inputs: [{ internalType: 'uint256', name: 'value', type: 'uint256' }],
    name: 'asserts',
    outputs: [{ internalType: 'uint256', name: '', type: 'uint256' }],
    stateMutability: 'pure',
    type: 'function',
  },
  {
    inputs: [],
    name: 'bare',
    outputs: [{ internalType: 'bool', name: '', type: 'bool' }],
    stateMutability: 'pure',
    type: 'function',
  },
  {
    inputs: [
      { internalType: 'address', name: 'who', type: 'address' },
      { internalType: 'uint256', name: 'needed', type: 'uint256' },
      { internalType: 'string', name: 'why', type: 'string' },
    ],
    name: 'custom',
    outputs: [{ internalType: 'bool', name: '', type: 'bool' }],
    stateMutability: 'pure',
    type: 'function',
  },
  {
    inputs: [],
    name: 'customEmpty',
    outputs: [{ internalType: 'bool', name: '', type: 'bool' }],
    stateMutability: 'pure',
    type: 'function',
  },
  {
    inputs: [
      { internalType: 'uint256', name: 'value', type: 'uint256' },
      { internalType: 'uint256', name: 'by', type: 'uint256' },
    ],
    name: 'divides',
    outputs: [{ internalType: 'uint256', name: '', type: 'uint256' }],
    stateMutability: 'pure',
    type: 'function',
  },
  {
    inputs: [{ internalType: 'uint256', name: 'index', type: 'uint256' }],
    name: 'item',
    outputs: [{ internalType: 'uint256', name: '', type: 'uint256' }],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [],
    name: 'level',
    outputs: [{ internalType: 'uint256', name: '', type: 'uint256' }],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [{ internalType: 'uint256', name: 'value', type: 'uint256' }],
    name: 'overflows',
    outputs: [{ internalType: 'uint256', name: '', type: 'uint256' }],
    stateMutability: 'pure',
    type: 'function',
  },
  {
    inputs: [{ internalType: 'uint256', name: 'value', type: 'uint256' }],
    name: 'reason',
    outputs: [{ internalType: 'uint256', name: '', type: 'uint256' }],
    stateMutability: 'pure',
    type: 'function',
  },
  {
    inputs: [{ internalType: 'uint256', name: 'value', type: 'uint256' }],
    name: 'setLevel',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
] as const

/** The creation bytecode of `Reverts`. Append the encoded constructor arguments. */
export const revertsBytecode: `0x${string}` =
  '0x6080604052348015600f57600080fd5b506104318061001f6000396000f3fe608060405234801561001057600080fd5b506004361061009e5760003560e01c80636fd5ae15116100665780636fd5ae151461011c5780638095dd0b14610125578063898e62191461012d578063a12f69e014610140578063c7b20e121461015357600080fd5b806316ea7e1f146100a357806326b69354146100cb57806327a5428b146100ec57806338045ed614610101578063395014ea14610109575b600080fd5b6100b66100b13660046102a7565b610166565b60405190151581526020015b60405180910390f35b6100de6100d936600461033f565b610192565b6040519081526020016100c2565b6100ff6100fa36600461033f565b6101e1565b005b6100b6610232565b6100de61011736600461033f565b61024d565b6100de60015481565b6100b6600080fd5b6100de61013b36600461033f565b61025f565b6100de61014e366004610358565b610285565b6100de61016136600461033f565b61029a565b6000848484846040516316be9ebb60e21b8152600401610189949392919061037a565b60405180910390fd5b6000816000036101dd5760405162461bcd60e51b815260206004820152601660248201527576616c7565206d757374206e6f74206265207a65726f60501b6044820152606401610189565b5090565b600a81111561022d576040516316be9ebb60e21b81523360048201526024810182905260606044820152600a60648201526906174206d6f73742031360b41b608482015260a401610189565b600155565b6000604051631cdde67b60e01b815260040160405180910390fd5b6000816000036101dd576101dd6103c2565b6000808281548110610273576102736103d8565b90600052602060002001549050919050565b600061029182846103ee565b90505b92915050565b6000610294826001610410565b600080600080606085870312156102bd57600080fd5b84356001600160a01b03811681146102d457600080fd5b935060208501359250604085013567ffffffffffffffff8111156102f757600080fd5b8501601f8101871361030857600080fd5b803567ffffffffffffffff81111561031f57600080fd5b87602082840101111561033157600080fd5b949793965060200194505050565b60006020828403121561035157600080fd5b5035919050565b6000806040838503121561036b57600080fd5b50508035926020909101359150565b6001600160a01b0385168152602081018490526060604082018190528101829052818360808301376000818301608090810191909152601f909201601f191601019392505050565b634e487b7160e01b600052600160045260246000fd5b634e487b7160e01b600052603260045260246000fd5b60008261040b57634e487b7160e01b600052601260045260246000fd5b500490565b8082018082111561029457634e487b7160e01b600052601160045260246000fd'
