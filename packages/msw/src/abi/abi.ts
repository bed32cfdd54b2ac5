import type { Hex } from '@keyrail/core'

/** A param, a result or a field in an ABI in JSON. */
export interface AbiParameter {
  readonly type: string
  readonly name?: string
  readonly indexed?: boolean
  readonly components?: readonly AbiParameter[]
}

/** A function, event, error or constructor in an ABI in JSON. */
export interface AbiItem {
  readonly type: string
  readonly name?: string
  readonly inputs?: readonly AbiParameter[]
  readonly outputs?: readonly AbiParameter[]
  readonly stateMutability?: string
}

/**
 * The ABI of a contract in JSON, as compilers write it and as viem's `parseAbi` gives it. Written `as const`, it types the handlers.
 *
 * @example
 * const abi = [{ type: 'function', name: 'paused', inputs: [], outputs: [{ type: 'bool' }] }] as const satisfies Abi
 */
export type Abi = readonly AbiItem[]

/** An `Interface` of ethers, which has no types of its functions. */
export interface AbiInterface {
  readonly formatJson: () => string
}

type SmallBits = '8' | '16' | '24' | '32' | '40' | '48'

/** What a value of a type of Solidity is in JavaScript: the same as in viem. */
export type AbiValue<P extends AbiParameter> = P['type'] extends `${infer Inner}[]`
  ? readonly AbiValue<{ type: Inner; components: NonNullable<P['components']> }>[]
  : P['type'] extends `${infer Inner}[${number}]`
    ? readonly AbiValue<{ type: Inner; components: NonNullable<P['components']> }>[]
    : P['type'] extends 'tuple'
      ? { readonly [C in NonNullable<P['components']>[number] as C['name'] & string]: AbiValue<C> }
      : P['type'] extends 'address' | `bytes${string}`
        ? Hex
        : P['type'] extends 'bool'
          ? boolean
          : P['type'] extends 'string'
            ? string
            : P['type'] extends `uint${SmallBits}` | `int${SmallBits}`
              ? number
              : P['type'] extends `uint${string}` | `int${string}`
                ? bigint
                : unknown

/** The values of a list of params. */
export type AbiValues<P extends readonly AbiParameter[]> = { readonly [I in keyof P]: AbiValue<P[I]> }

/** What may be given for a value: numbers of any size in either form. */
type Given<T> = T extends bigint | number ? bigint | number : T

/** What a function may be answered with: nothing, the one result, or all of them in a list. */
export type AbiAnswer<P extends readonly AbiParameter[]> = P extends readonly []
  ? void
  : P extends readonly [infer One extends AbiParameter]
    ? Given<AbiValue<One>>
    : AbiValues<P>

type ItemOf<A extends Abi, T extends string> = Extract<A[number], { readonly type: T }>

/** The names of what an ABI holds of a kind. */
export type AbiName<A extends Abi, T extends string> = ItemOf<A, T>['name'] & string

/** The item of a kind by its name. */
export type AbiNamed<A extends Abi, T extends string, N> = Extract<ItemOf<A, T>, { readonly name: N }>

/** The values that an event is emitted with: by name, or in order. */
export type AbiEventArgs<P extends readonly AbiParameter[]> =
  | { readonly [C in P[number] as C['name'] & string]: Given<AbiValue<C>> }
  | { readonly [I in keyof P]: Given<AbiValue<P[I]>> }
