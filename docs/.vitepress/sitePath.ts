/**
 * Returns the path of a repository file in the site.
 * @param file - From the top of the repository, with `/` between names: a Markdown file, or a folder that the site has an index of.
 * @returns A path such as `guide.md`; undefined if the file is not a page.
 * @example
 * sitePath('docs/service/running.md') // 'service/running.md'
 * sitePath('examples/subscribe-blocks/README.md') // 'examples/subscribe-blocks.md'
 */
export function sitePath(file: string): string | undefined {
  const named = pages[file]
  if (named !== undefined) return named
  const [, folder, name] = /^(packages|examples)\/([^/]+)\/README[.]md$/.exec(file) ?? []
  if (folder !== undefined) return `${folder}/${name}.md`
  const [, guide] = /^docs\/(.+[.]md)$/.exec(file) ?? []
  return guide ?? /^([A-Z_]+)[.]md$/.exec(file)?.[0].toLowerCase()
}

const pages: Readonly<Record<string, string>> = {
  examples: 'examples/index.md',
  'examples/README.md': 'examples/index.md',
  'docs/decisions': 'decisions/index.md',
  'docs/decisions/README.md': 'decisions/index.md',
  'packages/gateway/src/control/contract/controlApi.d.ts': 'reference/control-api.md',
  'packages/gateway/src/errors/causes.ts': 'reference/log-codes.md',
  'packages/bench/RESULTS.md': 'bench/results.md',
  'packages/bench/PEERS.md': 'bench/peers.md',
  'packages/bench/FAILOVER.md': 'bench/failover.md',
  'packages/bench/GETH.md': 'bench/geth.md',
  'packages/bench/STORE.md': 'bench/store.md',
  'packages/bench/SOAK.md': 'bench/soak.md',
}
