import type { Target } from './target.ts'
import { openService } from './openService.ts'
import { startFloor } from './floor.ts'

const floor = async (upstream: string, parse: boolean): Promise<Target> => ({
  url: await startFloor(upstream, { parse }),
  paths: { good: ['/'] },
})

/** Two services in one process, so that they share its compiled code and its heap, and differ by nothing but the tracing. */
const tracing = async (upstream: string, collector: string): Promise<Target> => {
  const untraced = await openService(upstream)
  const traced = await openService(upstream, { collector })
  const { good = [] } = traced.paths
  return { ...untraced, paths: { ...untraced.paths, traced: good }, urls: { traced: traced.url } }
}

/** What is measured, by name. */
export const targets: Readonly<Record<string, (upstream: string, collector: string) => Promise<Target>>> = {
  floor: (upstream) => floor(upstream, false),
  floorParsing: (upstream) => floor(upstream, true),
  service: (upstream) => openService(upstream),
  tracing,
}
