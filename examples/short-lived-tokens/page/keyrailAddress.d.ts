import type { AddressOptions } from '@keyrail/core'

declare global {
  /** What vite.config.ts puts in place of it. */
  const keyrailAddress: AddressOptions
}
