import { reactive } from 'vue'

/** What a reader chose for all samples. There is no key: samples read it from the environment. */
export interface Choices {
  /** The title of a tab, such as `viem`; empty for the first one of each group. */
  library: string
  /** How packages are installed, such as `npm`. */
  installer: string
  /** The base URL of the reader's app; empty for the one in the samples. */
  url: string
}

/** The libraries, by language. */
export const libraries: Readonly<Record<string, readonly string[]>> = {
  TypeScript: ['viem', 'ethers', 'web3.js', 'typed client'],
  Python: ['web3.py'],
  Shell: ['curl'],
}
const installers = ['npm', 'pnpm', 'bun', 'pip']

const storageKey = 'keyrail-choices'
const placeholder = 'https://node.example'

/** The reader's choices. */
export const choices: Choices = reactive({ library: '', installer: '', url: '' })

/**
 * Checks a base URL. Only URLs without a key are used, because samples are copied and shared.
 * @returns What is wrong; empty if the URL can be used.
 */
export function findUrlProblem(url: string): string {
  if (url === '') return ''
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return 'Enter a URL that starts with https://'
  const { username, password, search, pathname } = new URL(url)
  const hasSecret = username !== '' || password !== '' || search !== '' || /[/]v\d+([/]|$)|kr_/.test(pathname)
  return hasSecret ? 'Enter the URL without the key' : ''
}

/** The URL of the reader in place of the one in the samples. A sample with `{network}` keeps that in place of the network of the URL. */
export function replaceUrl(text: string, url: string): string {
  if (url === '' || findUrlProblem(url) !== '') return text
  const base = url.replace(/[/]+$/, '')
  const { pathname } = new URL(base)
  const parent = pathname === '/' ? base : base.slice(0, base.lastIndexOf('/'))
  return text.replaceAll(
    /(https|wss):[/][/]node[.]example([/](?:[{]network[}]|[\w-]+))?/g,
    (whole, scheme: string, path = '') => {
      const target = path === '/{network}' ? `${parent}/{network}` : path === '' ? parent : base
      return scheme === 'wss' ? target.replace(/^http/, 'ws') : target
    },
  )
}

const originals = new WeakMap<Text, string>()

function showUrl(): void {
  const { url } = choices
  for (const code of document.querySelectorAll('.vp-doc pre code')) {
    if (!code.textContent?.includes('node.example') && url === '' && !code.hasAttribute('data-url')) continue
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
      const original = originals.get(node) ?? node.data
      if (!original.includes(placeholder) && !original.includes('wss://node.example')) continue
      originals.set(node, original)
      code.setAttribute('data-url', '')
      const shown = replaceUrl(original, url)
      if (node.data !== shown) node.data = shown
    }
  }
}

/** The titles that the reader wants to see, the most important first. */
const getWanted = (): string[] => [
  ...(choices.library === 'web3.py' ? ['web3.py', 'pip'] : []),
  ...[choices.library, choices.installer].filter((title) => title !== ''),
]

function showTabs(): void {
  for (const group of document.querySelectorAll('.vp-code-group')) {
    const labels = [...group.querySelectorAll('label')]
    const wanted = getWanted()
      .map((title) => labels.find((label) => label.textContent?.trim() === title))
      .find((label) => label !== undefined)
    const input = wanted && document.getElementById(wanted.htmlFor)
    if (input instanceof HTMLInputElement && !input.checked) input.click()
  }
}

/** Shows the chosen tabs and the reader's URL in all samples of the page. */
export function applyChoices(): void {
  showTabs()
  showUrl()
}

/** Stores the choices, and applies them to the page. */
export function choose(change: Partial<Choices>): void {
  Object.assign(choices, change)
  try {
    // A URL with a key is shown with its problem, and never stored.
    const url = findUrlProblem(choices.url) === '' ? choices.url : ''
    localStorage.setItem(storageKey, JSON.stringify({ ...choices, url }))
  } catch {
    // The reader blocks storage: the choices are valid until the page is reloaded.
  }
  applyChoices()
}

/** Reads the stored choices, and follows the tabs that the reader opens. */
export function followChoices(): void {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '{}')
    for (const [name, value] of Object.entries(Object(stored) as object))
      if (name in choices && typeof value === 'string') Object.assign(choices, { [name]: value })
  } catch {
    // Nothing usable is stored.
  }
  window.addEventListener('click', ({ target, isTrusted }) => {
    if (!isTrusted || !(target instanceof HTMLInputElement) || !target.matches('.vp-code-group input')) return
    const title = document.querySelector(`label[for="${target.id}"]`)?.textContent?.trim() ?? ''
    if (Object.values(libraries).flat().includes(title)) choose({ library: title })
    else if (installers.includes(title)) choose({ installer: title })
  })
}
