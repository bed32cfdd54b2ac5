import type { Abi } from './abi.ts'

/** Functions of ERC-20, ERC-721 and ERC-165. They give calls of contracts that a test has not mocked their names. */
export const standardAbi: Abi = [
  ['name'],
  ['symbol'],
  ['decimals'],
  ['totalSupply'],
  ['balanceOf', 'address'],
  ['allowance', 'address', 'address'],
  ['transfer', 'address', 'uint256'],
  ['approve', 'address', 'uint256'],
  ['transferFrom', 'address', 'address', 'uint256'],
  ['ownerOf', 'uint256'],
  ['tokenURI', 'uint256'],
  ['supportsInterface', 'bytes4'],
].map(([name = '', ...types]) => ({ type: 'function', name, inputs: types.map((type) => ({ type })) }))
