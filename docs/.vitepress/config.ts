import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { toSearchedTexts, writeAgentPages } from './agentPages.ts'
import { emptyHeaders } from './emptyHeaders.ts'
import { headingSlug } from './headingSlug.ts'
import { imageSizes } from './imageSizes.ts'
import { readPages } from './readPages.ts'
import search from './search.json' with { type: 'json' }
import { searchSections } from './searchSections.ts'
import { sidebar } from './sidebar.ts'
import { siteLinks } from './siteLinks.ts'
import type { Markdown } from './siteLinks.ts'
import { stagePages } from './stagePages.ts'

const top = join(import.meta.dirname, '../..')
const folder = join(import.meta.dirname, 'pages')
const pages = readPages(top)
stagePages(top, folder, pages)

/** The members of Vite's server that are used. */
interface Server {
  readonly watcher: { add(paths: readonly string[]): void; on(event: 'change', listener: (file: string) => void): void }
}

const title = 'Keyrail'
const description = 'The SDK for Ethereum nodes with API keys, and the service that serves the keys.'
const groups = sidebar(pages)
const byPath = new Map(pages.map((page) => [page.path, page]))
const { version } = JSON.parse(readFileSync(join(top, 'packages/core/package.json'), 'utf8')) as { version: string }

// The sources name neither the site nor the repository: a fork has others. In the workflows of GitHub, the last two variables are set.
const { KEYRAIL_DOCS_URL = '', GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env
const siteUrl = KEYRAIL_DOCS_URL.replace(/[/]$/, '')
const editLink =
  server === undefined || repository === undefined
    ? undefined
    : { pattern: `${server}/${repository}/edit/main/:path`, text: 'Edit this page' }

const searchedTexts = toSearchedTexts(pages)

// The site loads nothing from other hosts, and its policy makes the browser block such requests. VitePress writes two scripts into each page.
const policy =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'"

export default {
  title,
  description,
  lang: 'en',
  srcDir: '.vitepress/pages',
  // Prefetching every page that a visible link leads to would double what a page loads.
  router: { prefetchLinks: false },
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: policy }],
    ['link', { rel: 'icon', href: '/icon.svg', type: 'image/svg+xml' }],
  ],
  ...(siteUrl === '' ? {} : { sitemap: { hostname: siteUrl } }),
  transformPageData: ({ relativePath }: { readonly relativePath: string }) => {
    const page = byPath.get(relativePath)
    // The landing page is plain Markdown, so that it can be read in the repository, too. Here it needs no sidebar.
    const landing = relativePath === 'index.md' ? { sidebar: false, aside: false, pageClass: 'landing' } : {}
    const hasChoices = /node[.]example|^```\w+ (viem|npm)$/m.test(page?.markdown ?? '')
    return {
      // The link to edit a page leads to its file in the repository.
      ...(page && { filePath: page.source }),
      frontmatter: { ...landing, ...(hasChoices && { hasChoices }), ...(page?.isGenerated && { editLink: false }) },
    }
  },
  buildEnd: ({ outDir }: { readonly outDir: string }) =>
    writeAgentPages(outDir, { pages, sidebar: groups, title, description, siteUrl }),
  markdown: {
    // Pages are plain Markdown, which other viewers show too: angle brackets and braces are text.
    html: false,
    linkify: false,
    attrs: { disable: true },
    anchor: { slugify: headingSlug },
    // The other themes of GitHub have too little contrast on the background of a code block.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    image: { lazyLoading: true },
    config: (markdown: Markdown) => {
      markdown.disable('emoji', true)
      emptyHeaders(markdown)
      imageSizes(folder)(markdown)
      siteLinks(new Map(pages.map(({ path, source }) => [path, source])))(markdown)
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Get started', link: '/start.md' },
      { text: 'Guides', link: '/choosing.md' },
      { text: 'Reference', link: '/transport.md' },
      { text: 'Operate', link: '/service/running.md' },
      { text: 'Compare', link: '/compare.md' },
    ],
    // Before the first release, all packages have this version.
    version: version === '0.0.0' ? 'Unreleased' : `v${version}`,
    sidebar: groups,
    outline: [2, 3],
    ...(editLink && { editLink }),
    search: {
      provider: 'local',
      options: {
        detailedView: true,
        miniSearch: {
          searchOptions: search.options,
          _splitIntoSections: (file: string) => {
            const path = relative(folder, file).replaceAll('\\', '/')
            return searchSections(path, searchedTexts.get(path) ?? '')
          },
        },
        // The sections are made of Markdown.
        _render: () => '',
      },
    },
  },
  vite: {
    configFile: false,
    // The index of the search is one file.
    build: { chunkSizeWarningLimit: 2_000 },
    plugins: [
      {
        name: 'keyrail-stage',
        configureServer: ({ watcher }: Server) => {
          const sources = pages.map(({ source }) => join(top, source))
          watcher.add(sources)
          watcher.on('change', (file) => {
            if (sources.includes(file)) stagePages(top, folder, readPages(top))
          })
        },
      },
    ],
  },
}
