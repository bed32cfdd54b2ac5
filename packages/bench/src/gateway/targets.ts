import type { Target } from './target.ts'
import { openService } from './openService.ts'
import { startFloor } from './floor.ts'

const floor = async (upstream: string, parse: boolean): Promise<Target> => ({
  url: await startFloor(upstream, { parse }),
  paths: { accepted: ['/'] },
})

/** Two services in one process: they share compiled code and heap, and differ only in tracing. */
const tracing = async (upstream: string, collector: string): Promise<Target> => {
  const untraced = await openService(upstream)
  const traced = await openService(upstream, { collector })
  const { accepted = [] } = traced.paths
  return { ...untraced, paths: { ...untraced.paths, traced: accepted }, urls: { traced: traced.url } }
}

/** The targets by name. */
export const targets: Readonly<Record<string, (upstream: string, collector: string) => Promise<Target>>> = {
  floor: (upstream) => floor(upstream, false),
  floorParsing: (upstream) => floor(upstream, true),
  service: (upstream) => openService(upstream),
  tracing,
}
