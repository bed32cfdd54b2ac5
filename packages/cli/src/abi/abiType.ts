/** A type of the contract ABI. */
export type AbiType =
  | { readonly kind: 'uint' | 'int'; readonly bits: number }
  | { readonly kind: 'address' | 'bool' | 'string' }
  /** `bytes` has no size. `function` is `bytes24`: an address and a selector. */
  | { readonly kind: 'bytes'; readonly name: string; readonly size: number | undefined }
  | { readonly kind: 'array'; readonly item: AbiType; readonly length: number | undefined }
  | { readonly kind: 'tuple'; readonly members: readonly AbiParameter[] }

/** A parameter of a function or an event, or a member of a tuple. */
export interface AbiParameter {
  /** Empty if the signature does not name it. */
  readonly name: string
  readonly type: AbiType
  /** Whether it is in a topic of the log, and not in its data. */
  readonly indexed: boolean
}

/**
 * A value: integers are bigints, bytes and addresses are lower-case hex. Tuples are lists of their members. Null is a value of a log that cannot be
 * decoded.
 */
export type AbiValue = bigint | boolean | string | null | readonly AbiValue[]

/** Formats the canonical name of a type, as in a signature. */
export function formatType(type: AbiType): string {
  switch (type.kind) {
    case 'uint':
    case 'int':
      return `${type.kind}${type.bits}`
    case 'bytes':
      return type.name
    case 'array':
      return `${formatType(type.item)}[${type.length ?? ''}]`
    case 'tuple':
      return formatTypes(type.members)
    case 'address':
    case 'bool':
    case 'string':
      return type.kind
  }
}

/** Formats the canonical names of a list of types: `(address,uint256)`. */
export const formatTypes = (parameters: readonly AbiParameter[]): string =>
  `(${parameters.map(({ type }) => formatType(type)).join(',')})`

/** Whether the encoding has a variable length, so that the head contains its position. */
export function isDynamic(type: AbiType): boolean {
  switch (type.kind) {
    case 'string':
      return true
    case 'bytes':
      return type.size === undefined
    case 'array':
      return type.length === undefined || isDynamic(type.item)
    case 'tuple':
      return type.members.some((member) => isDynamic(member.type))
    case 'uint':
    case 'int':
    case 'address':
    case 'bool':
      return false
  }
}

/** Returns the number of bytes of a type in the head of a list. */
export function getHeadSize(type: AbiType): number {
  if (isDynamic(type)) return 32
  if (type.kind === 'array') return (type.length ?? 0) * getHeadSize(type.item)
  if (type.kind === 'tuple') return type.members.reduce((sum, member) => sum + getHeadSize(member.type), 0)
  return 32
}
