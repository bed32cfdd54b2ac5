import type { Target } from './target.ts'
import { openService } from './openService.ts'
import { startFloor } from './floor.ts'

const floor = async (upstream: string, parse: boolean): Promise<Target> => ({
  url: await startFloor(upstream, { parse }),
  paths: { good: ['/'] },
})

/** What is measured, by name. */
export const targets: Readonly<Record<string, (upstream: string) => Promise<Target>>> = {
  floor: (upstream) => floor(upstream, false),
  floorParsing: (upstream) => floor(upstream, true),
  service: (upstream) => openService(upstream),
}
