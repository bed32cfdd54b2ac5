import type { Script } from '../faultServer.ts'
import { respondWith } from './respondWith.ts'

/** A fault with its weight. */
export interface Fault {
  readonly name: string
  readonly weight?: number
  readonly script: Script
}

/** Options of {@link mixed}. */
export interface MixOptions {
  /** A function like `Math.random`. A seeded one makes the run repeatable. */
  readonly random: () => number
  /** The share of requests with a fault, from 0 to 1. */
  readonly share: number
  readonly faults: readonly Fault[]
  readonly normal?: Script
  /** Called just before each fault. */
  readonly onFault?: (fault: Fault, ...met: Parameters<Script>) => void
}

/** Some requests get a fault, chosen by weight, all others a correct response. */
export function mixed({ random, share, faults, normal = respondWith(), onFault }: MixOptions): Script {
  const total = faults.reduce((sum, { weight = 1 }) => sum + weight, 0)
  const choose = (): Fault | undefined => {
    let left = random() * total
    return faults.find(({ weight = 1 }) => (left -= weight) < 0)
  }
  return (...met) => {
    const fault = random() < share ? choose() : undefined
    if (fault) onFault?.(fault, ...met)
    ;(fault?.script ?? normal)(...met)
  }
}
