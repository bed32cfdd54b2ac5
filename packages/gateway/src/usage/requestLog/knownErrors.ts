import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Custom errors of widely used contracts: ERC-6093, OpenZeppelin Contracts 5, EIP-3668, and those of Uniswap's routers. */
const signatures = [
  'AccessControlBadConfirmation()',
  'AccessControlUnauthorizedAccount(address,bytes32)',
  'AddressEmptyCode(address)',
  'AllowanceExpired(uint256)',
  'ECDSAInvalidSignature()',
  'ERC1155InsufficientBalance(address,uint256,uint256,uint256)',
  'ERC1155InvalidApprover(address)',
  'ERC1155InvalidArrayLength(uint256,uint256)',
  'ERC1155InvalidOperator(address)',
  'ERC1155InvalidReceiver(address)',
  'ERC1155InvalidSender(address)',
  'ERC1155MissingApprovalForAll(address,address)',
  'ERC20InsufficientAllowance(address,uint256,uint256)',
  'ERC20InsufficientBalance(address,uint256,uint256)',
  'ERC20InvalidApprover(address)',
  'ERC20InvalidReceiver(address)',
  'ERC20InvalidSender(address)',
  'ERC20InvalidSpender(address)',
  'ERC2612ExpiredSignature(uint256)',
  'ERC2612InvalidSigner(address,address)',
  'ERC721IncorrectOwner(address,uint256,address)',
  'ERC721InsufficientApproval(address,uint256)',
  'ERC721InvalidApprover(address)',
  'ERC721InvalidOperator(address)',
  'ERC721InvalidOwner(address)',
  'ERC721InvalidReceiver(address)',
  'ERC721InvalidSender(address)',
  'ERC721NonexistentToken(uint256)',
  'EnforcedPause()',
  'ExpectedPause()',
  'FailedCall()',
  'InsufficientAllowance(uint256)',
  'InvalidAccountNonce(address,uint256)',
  'InvalidInitialization()',
  'NotInitializing()',
  'OffchainLookup(address,string[],bytes,bytes4,bytes)',
  'OwnableInvalidOwner(address)',
  'OwnableUnauthorizedAccount(address)',
  'ReentrancyGuardReentrantCall()',
  'SafeERC20FailedOperation(address)',
  'TransactionDeadlinePassed()',
  'Unauthorized()',
  'V2TooLittleReceived()',
  'V2TooMuchRequested()',
  'V3TooLittleReceived()',
  'V3TooMuchRequested()',
] as const

let names: ReadonlyMap<string, string> | undefined

/**
 * Gets the name of a widely used custom error.
 * @param selector - Its first four bytes as lowercase hex, with `0x`.
 */
export const getErrorName = (selector: string): string | undefined => {
  names ??= new Map(
    signatures.map((signature) => [
      `0x${bytesToHex(keccak_256(utf8ToBytes(signature)).subarray(0, 4))}`,
      signature.slice(0, signature.indexOf('(')),
    ]),
  )
  return names.get(selector)
}
