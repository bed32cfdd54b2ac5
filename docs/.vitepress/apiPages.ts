import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiPage } from './apiPage.ts'
import { headingSlug } from './headingSlug.ts'
import { pythonApiPages } from './pythonApiPages.ts'
import { readExports } from './readExports.ts'
import type { Exported } from './readExports.ts'

/** The packages of the reference, in order. */
const folders = ['core', 'fetch', 'viem', 'ethers', 'web3', 'msw', 'snippets']

interface Planned {
  readonly path: string
  readonly title: string
  readonly about: string
  readonly of: readonly Exported[]
  /** The language of its declarations. The largest page has no syntax colors, which would triple its size. */
  readonly language: 'ts' | 'text'
}

/**
 * Writes the API reference, from the sources and their docblocks.
 * @param top - The top of the workspace.
 */
export function apiPages(top: string): readonly ApiPage[] {
  const planned = folders.flatMap((folder) => planPackage(top, folder))
  const links = new Map<string, string>()
  for (const { path, of } of planned)
    for (const [name, heading] of getHeadings(of))
      // If two packages export the same name, links lead to the first: the wire format in core.
      if (!links.has(name)) links.set(name, `/${path}#${headingSlug(heading)}`)
  const python = pythonApiPages(top)
  const index = [
    ...planned.map(({ path, title, of }) => `- [${title}](/${path}): ${of.length} exports`),
    ...python.map(({ path, title, names }) => `- [${title}](/${path}): ${names} names`),
  ]
  const about =
    'Every public export of each package, generated from the docstrings in the source. For a guide, see [the transport](/transport.md), [viem](/viem.md), [ethers](/ethers.md), [web3.js](/web3.md) or [Python](/python.md).'
  return [
    { path: 'api/index.md', title: 'API reference', markdown: `# API reference\n\n${about}\n\n${index.join('\n')}\n` },
    ...planned.map((page) => ({ path: page.path, title: page.title, markdown: writePage(page, links) })),
    ...python,
  ]
}

function planPackage(top: string, folder: string): readonly Planned[] {
  const home = join(top, 'packages', folder)
  const index = join(home, 'src/index.ts')
  if (!existsSync(index)) return []
  const { name } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { name: string }
  const all = [...readExports(index)].sort(
    (a, b) => Number(a.isType) - Number(b.isType) || a.name.localeCompare(b.name),
  )
  const page = (path: string, title: string, about: string, of: readonly Exported[]): Planned => ({
    path: `api/${path}.md`,
    title,
    about,
    of,
    language: path === 'core-schema' ? 'text' : 'ts',
  })
  if (folder !== 'core') return [page(folder, name, `The exports of \`${name}\`.`, all)]
  // The main entry repeats some types of the schema; they are described on the schema's page.
  const own = all.filter(({ file, isType }) => !isType || !file?.startsWith('./schema/'))
  const values = own.filter(({ isType }) => !isType)
  const types = own.filter(({ isType }) => isType)
  const schema = [...readExports(join(home, 'src/schema/index.ts'))].sort((a, b) => a.name.localeCompare(b.name))
  const pages = '[functions](/api/core.md), [types](/api/core-types.md), [schema](/api/core-schema.md)'
  const also = `All pages of the package: ${pages}.`
  return [
    page('core', name, `The functions of \`${name}\`. ${also}`, values),
    page('core-types', `${name}: types`, `The types of \`${name}\`. ${also}`, types),
    page(
      'core-schema',
      `${name}/schema`,
      `The types of \`${name}/schema\`: the methods of Ethereum's JSON-RPC, with params and results as they are sent. ${also}`,
      schema,
    ),
  ]
}

/** The headings of the exports. If a function and a type differ only in the case of the first letter, the type is marked as such. */
function getHeadings(of: readonly Exported[]): ReadonlyMap<string, string> {
  const headings = new Map<string, string>()
  const slugs = new Set<string>()
  for (const { name } of of.filter(({ reExportedFrom }) => reExportedFrom === undefined)) {
    const heading = slugs.has(headingSlug(name)) ? `${name} (type)` : name
    slugs.add(headingSlug(heading))
    headings.set(name, heading)
  }
  return headings
}

function writePage({ title, about, of, language }: Planned, links: ReadonlyMap<string, string>): string {
  const own = of.filter(({ reExportedFrom }) => reExportedFrom === undefined)
  const passed = of.filter(({ reExportedFrom }) => reExportedFrom !== undefined)
  // On the page of fetch, `Log` is the type of fetch.
  const headings = getHeadings(of)
  const near = new Map([
    ...links,
    ...[...headings].map(([name, heading]) => [name, `#${headingSlug(heading)}`] as const),
  ])
  const linked = (name: string): string => (links.has(name) ? `[\`${name}\`](${links.get(name)})` : `\`${name}\``)
  const also =
    passed.length === 0
      ? []
      : [`Also exported, from other packages: ${passed.map(({ name }) => linked(name)).join(', ')}.`]
  const sections = own.map((one) => `## ${headings.get(one.name)}\n\n${writeExport(one, near, language)}`)
  return `# ${title}\n\n${[about, ...also, ...sections].join('\n\n')}\n`
}

function writeExport(
  { declarations, doc }: Exported,
  links: ReadonlyMap<string, string>,
  language: Planned['language'],
): string {
  const text = (words: string): string =>
    words
      .replaceAll(/\{@link ([^}|\s]+)[^}]*\}/g, (_, target: string) => {
        const href = links.get(target)
        return href === undefined ? `\`${target}\`` : `[\`${target}\`](${href})`
      })
      .replaceAll(/\bkind `(\w+)`/gi, (words, kind: string) =>
        words.replace(`\`${kind}\``, `[\`${kind}\`](/failures.md#${headingSlug(kind)})`),
      )
      // The star of `debug_*` would start italics that end at the next star.
      .replaceAll(/(?<![`\w])(\w+_\*)(?!`)/g, '`$1`')
  const line = (words: string): string => text(words).replaceAll(/\s*\n\s*/g, ' ')
  return [
    text(doc.text),
    fence(language, declarations.join('\n')),
    doc.params.map((param) => `- \`${param.name}\`: ${line(param.text)}`).join('\n'),
    doc.returns && `**Returns** ${line(doc.returns)}`,
    ...doc.throws.map((thrown) => `**Throws** ${line(thrown)}`),
    ...doc.examples.map((code) => fence('ts', code)),
    ...doc.see.map((source) => `**See** ${line(source)}`),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

const fence = (language: string, code: string): string =>
  `\`\`\`${language}\n${code.replaceAll(/^```.*$/gm, '').trim()}\n\`\`\``
