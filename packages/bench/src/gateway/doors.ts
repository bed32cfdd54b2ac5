import { startManyKeys } from '@keyrail/gateway/test/startManyKeys.ts'
import { openService } from './openService.ts'
import { startFloor } from './floor.ts'

/** Something in front of the node, and the paths by which it may be asked, by what becomes of the question. */
export interface Door {
  readonly url: string
  readonly paths: Readonly<Record<string, readonly string[]>>
  /** What is sent with them, where that is not all alike. */
  readonly headers?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const floor = async (upstream: string, parse: boolean): Promise<Door> => ({
  url: await startFloor(upstream, { parse }),
  paths: { good: ['/'] },
})

const many = async (upstream: string, stored: number, used: number, metering = true): Promise<Door> => {
  const { url, paths } = await startManyKeys({ upstream, stored, used, metering })
  return { url, paths: { good: paths } }
}

/** What is measured, by name. */
export const doors: Readonly<Record<string, (upstream: string) => Promise<Door>>> = {
  floor: (upstream) => floor(upstream, false),
  floorParsing: (upstream) => floor(upstream, true),
  service: openService,
  manyKeys: (upstream) => many(upstream, 10_000, 10_000),
  manyKeysUnmetered: (upstream) => many(upstream, 10_000, 10_000, false),
  fewStored: (upstream) => many(upstream, 10, 10),
  millionStored: (upstream) => many(upstream, 1_000_000, 10_000),
}
