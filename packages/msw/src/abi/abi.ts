import type { Hex } from '@keyrail/core'

/** A parameter, a result or a field in a JSON ABI. */
export interface AbiParameter {
  readonly type: string
  readonly name?: string
  readonly indexed?: boolean
  readonly components?: readonly AbiParameter[]
}

/** A function, event, error or constructor in a JSON ABI. */
export interface AbiItem {
  readonly type: string
  readonly name?: string
  readonly inputs?: readonly AbiParameter[]
  readonly outputs?: readonly AbiParameter[]
  readonly stateMutability?: string
}

/**
 * The JSON ABI of a contract, as compilers output it and viem's `parseAbi` returns it. Declared `as const`, it types the handlers.
 *
 * @example
 * const abi = [{ type: 'function', name: 'paused', inputs: [], outputs: [{ type: 'bool' }] }] as const satisfies Abi
 */
export type Abi = readonly AbiItem[]

/** An `Interface` of ethers. Its functions are not typed. */
export interface AbiInterface {
  readonly formatJson: () => string
}

type SmallBits = '8' | '16' | '24' | '32' | '40' | '48'

/** The JavaScript type of a Solidity type, as in viem. */
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

/** The types of a list of parameters. */
export type AbiValues<P extends readonly AbiParameter[]> = { readonly [I in keyof P]: AbiValue<P[I]> }

/** The input type of a value: integers can be a number or a bigint. */
type Input<T> = T extends bigint | number ? bigint | number : T

/** The return type of a handler: nothing, the single result, or a list of all results. */
export type AbiResult<P extends readonly AbiParameter[]> = P extends readonly []
  ? void
  : P extends readonly [infer One extends AbiParameter]
    ? Input<AbiValue<One>>
    : AbiValues<P>

type AbiItemOfKind<A extends Abi, T extends string> = Extract<A[number], { readonly type: T }>

/** The names of the items of a type, such as `function`, in an ABI. */
export type AbiName<A extends Abi, T extends string> = AbiItemOfKind<A, T>['name'] & string

/** The item with a type and a name. */
export type AbiNamed<A extends Abi, T extends string, N> = Extract<AbiItemOfKind<A, T>, { readonly name: N }>

/** The arguments of an event, by name or in order. */
export type AbiEventArgs<P extends readonly AbiParameter[]> =
  | { readonly [C in P[number] as C['name'] & string]: Input<AbiValue<C>> }
  | { readonly [I in keyof P]: Input<AbiValue<P[I]>> }
