import { toMethodMap } from './methodGroups.ts'
import { callMethods } from './methodSlice.ts'

/**
 * What is true or false of a method: `r` it is a read, `w` it sends a transaction, `x` it is expensive, `c` it runs code of a contract, `s` it
 * searches a range of blocks, `l` its null is an empty list.
 */
export type MethodFlag = 'r' | 'w' | 'x' | 'c' | 's' | 'l'

const flags = /* @__PURE__ */ toMethodMap(callMethods)

/** Checks what is true of a method. */
export const hasFlag = (method: string, flag: MethodFlag): boolean => !!flags.get(method)?.includes(flag)

/** Returns the names of all methods with a flag, which every bundle has: reads, writes and others. */
export const getFlaggedMethods = (): string[] => [...flags.keys()].filter((name) => !name.endsWith('*'))
