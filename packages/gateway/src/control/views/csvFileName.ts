import type { Network } from '../../lib/network.ts'
import type { MetricsCsvQuery } from '../contract/metrics.ts'

const longest = 40
/** What is left of a name where only what every file system takes is left: letters of a to z, digits and hyphens. */
const safe = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, longest)
    .replaceAll(/^-+|-+$/g, '')

/**
 * What a file of metrics is called, so that those of several apps and keys can lie in one folder.
 * @param of.name - What the app or the key is called. Where nothing of it can be in the name of a file, `of.id` stands in its place.
 * @param of.network - Of an API key: the one that it is for.
 * @returns Such as `keyrail-portfolio-series-week.csv`, of a to z, digits, hyphens and one dot.
 */
export const csvFileName = (
  { id, name, network }: { readonly id: string; readonly name: string; readonly network?: Network },
  { range, of }: Required<MetricsCsvQuery>,
): string =>
  `${['keyrail', safe(name) || safe(id), ...(network === undefined ? [] : [network]), of, range].join('-')}.csv`
