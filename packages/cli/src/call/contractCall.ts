import type { AbiValue } from '../abi/abiType.ts'
import { formatTypes } from '../abi/abiType.ts'
import { decodeAbi } from '../abi/decodeAbi.ts'
import { encodeAbi } from '../abi/encodeAbi.ts'
import { parseAbiValue } from '../abi/parseAbiValue.ts'
import { formatSignature, hashSignature, parseSignature } from '../abi/parseSignature.ts'
import { CliError, wrongUsage } from '../cliError.ts'

/** A call of a function of a contract. */
export interface ContractCall {
  readonly to: string
  /** The selector and the encoded arguments. */
  readonly data: string
  /** Whether the signature has result types. */
  readonly isDecoded: boolean
  /**
   * Decodes the result. Without result types in the signature, it is the only value.
   * @throws {CliError} if it does not match the signature.
   */
  readonly decode: (result: unknown) => readonly AbiValue[]
}

const hint = "for example keyrail call 0x… 'balanceOf(address)(uint256)' 0x…"

/** Whether a word is the address of a contract, and not the name of a method. */
export const isAddress = (word: string | undefined): boolean => /^0x[\da-f]{40}$/i.test(word ?? '')

/**
 * Creates a call from the arguments of `keyrail call`.
 *
 * @param words - The contract's address, the signature, and an argument for each parameter.
 * @throws {CliError} exit code 2 for an invalid signature or argument.
 */
export function createContractCall([to = '', text, ...words]: readonly string[]): ContractCall {
  if (text === undefined) throw wrongUsage('a contract call needs the signature of the function', hint)
  const signature = parseSignature(text, (message) => wrongUsage(`the signature ${message}`, hint))
  const name = formatSignature(signature)
  const { inputs, outputs } = signature
  if (words.length !== inputs.length) {
    const count = `${inputs.length} ${inputs.length === 1 ? 'argument' : 'arguments'}`
    throw wrongUsage(`${name} takes ${count}, not ${words.length}`, 'put quotes around an argument with spaces')
  }
  const values = inputs.map(({ type }, index) => parseAbiValue(type, words[index] ?? '', `argument ${index + 1}`))
  return {
    to,
    data: `${hashSignature(signature).slice(0, 10)}${encodeAbi(inputs, values)}`,
    isDecoded: outputs !== undefined,
    decode: (result) => {
      if (typeof result !== 'string') throw new CliError('the result is not hex')
      if (outputs === undefined) return [result]
      if (result === '0x' && outputs.length > 0) {
        throw new CliError(`${to} returned no data for ${name}`, {
          hint: 'check that it is a contract on this network, and that it has this function',
        })
      }
      try {
        return decodeAbi(outputs, result)
      } catch (error) {
        throw new CliError(
          `the result is not ${formatTypes(outputs)}: ${error instanceof Error ? error.message : String(error)}`,
          { hint: `omit the result types to print it as hex: '${name}'` },
        )
      }
    },
  }
}
