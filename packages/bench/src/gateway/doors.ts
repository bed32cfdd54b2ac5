import type { Door } from './door.ts'
import { openService } from './openService.ts'
import { startFloor } from './floor.ts'

const floor = async (upstream: string, parse: boolean): Promise<Door> => ({
  url: await startFloor(upstream, { parse }),
  paths: { good: ['/'] },
})

/** What is measured, by name. */
export const doors: Readonly<Record<string, (upstream: string) => Promise<Door>>> = {
  floor: (upstream) => floor(upstream, false),
  floorParsing: (upstream) => floor(upstream, true),
  service: (upstream) => openService(upstream),
}
