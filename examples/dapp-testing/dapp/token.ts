import { parseAbi } from 'viem'

/** The part of the token that the dApp uses. */
export const tokenAbi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'error InsufficientBalance(address owner, uint256 balance, uint256 needed)',
])
