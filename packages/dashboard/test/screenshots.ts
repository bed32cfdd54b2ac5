import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { getAppCode } from '@keyrail/gateway/test/account/appCode.ts'
import { callNode } from './callNode.ts'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { startPages } from './startPages.ts'

// Takes screenshots of every page, light and dark, of a service in use. With a name: only of pages whose name contains it. With a folder: into that folder,
// and also as on a phone. By hand: npm run pictures -- NAME FOLDER

const [only = '', given] = process.argv.slice(2)
const folder = given ?? join(import.meta.dirname, '../../../docs/dashboard')

const screen = { width: 1440, height: 900 }

const say = (line: string): boolean => process.stdout.write(`${line}\n`)

let behindMs = 0
const pages = await startPages({}, () => Date.now() - behindMs)
// More networks to choose from. Nobody calls these, so no node is behind them.
const idle = { upstreams: [{ url: 'http://127.0.0.1:9' }] }
await pages.reload({
  docsUrl: 'https://docs.example',
  networks: {
    testnet: { chainId: 11155111, upstreams: [{ url: pages.node, wsUrl: pages.node.replace('http', 'ws') }] },
    mainnet: { chainId: 1, upstreams: [{ url: pages.mainnetNode }] },
    'ethereum-hoodi': idle,
    'base-mainnet': idle,
    'base-sepolia': idle,
    'arbitrum-mainnet': idle,
    'polygon-mainnet': idle,
    'gnosis-mainnet': idle,
  },
})
const browser = await openBrowser()
const context = await browser.newContext({ viewport: screen, colorScheme: 'light' })
const page = await context.newPage()
page.on('console', (message) => {
  if (message.type() === 'error') say(`console: ${message.text()}`)
})
page.on('pageerror', (error) => say(`page: ${error.message}`))

if (only === '' && given === undefined) rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

const settle = async (of: Page): Promise<void> => {
  await of.waitForLoadState('networkidle', { timeout: 2_500 }).catch(() => undefined)
  await of.locator('.skeleton').first().waitFor({ state: 'detached' })
  // Colours that were changed are painted in the frame after the next.
  await of.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
}

/** Docs show the upper part of a long page, unless what the picture is about is below it. */
const shoot = async (name: string, { isWhole = given !== undefined } = {}): Promise<void> => {
  if (!name.includes(only)) return
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    // As high as the page, so that elements at the bottom of the window are at the bottom of the picture.
    await page.setViewportSize(screen)
    await settle(page)
    const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
    await page.setViewportSize({ ...screen, height: isWhole ? height : Math.min(height, 2 * screen.height) })
    // A click scrolls to its button.
    await page.evaluate('scrollTo(0, 0)')
    await settle(page)
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
    if (colorScheme === 'light') {
      await page.setViewportSize({ width: 360, height: 740 })
      await settle(page)
      if (given !== undefined) await page.screenshot({ path: join(folder, `${name}-phone.png`), fullPage: true })
      const wide = await page.evaluate('document.documentElement.scrollWidth')
      if (wide !== 360) say(`${name} is ${String(wide)} wide on a phone`)
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(screen)
}

const go = async (path: string): Promise<void> => {
  await page.goto(`${pages.url}${path}`)
  await page.locator('#root h1').waitFor()
  await settle(page)
}

const api = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
  const response = await context.request.fetch(`${pages.url}${path}`, {
    method,
    headers: { origin: pages.url, 'content-type': 'application/json' },
    ...(body !== undefined && { data: JSON.stringify(body) }),
  })
  if (!response.ok()) throw new Error(`${method} ${path}: ${await response.text()}`)
  return (await response.json().catch(() => undefined)) as T
}

try {
  await go('/log-in')
  await shoot('log-in')
  await go('/sign-up')
  await shoot('sign-up')
  await page.getByLabel('Email address').fill('ada@example.org')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByRole('heading', { name: 'Create your first app' }).waitFor()
  await shoot('new-app')
  await page.getByLabel('Name').fill('Portfolio')
  await page.getByLabel('Chains and networks').press('ArrowDown')
  await shoot('new-app-search')
  await page.getByLabel('Chains and networks').press('Escape')
  await page.getByText('Description, use case and services').click()
  await page.getByLabel('Description').fill('Balances and prices, for the web and the phone.')
  await page.getByLabel('Use case').selectOption('Wallet')
  await shoot('new-app-open')
  await page.getByRole('button', { name: 'Create app' }).click()
  await page.getByText('Waiting for your first request').waitFor()
  await shoot('app-setup')
  const appId = /app_\w+/.exec(page.url())?.[0] ?? ''

  const { urls } = await api<{ urls: Record<'testnet' | 'mainnet', string> }>(
    'POST',
    `/api/apps/${appId}/key/reveal`,
    {},
  )
  const zero = `0x${'0'.repeat(40)}`
  const asks: readonly (readonly [method: string, params: readonly unknown[]])[] = [
    ...Array.from({ length: 8 }, () => ['eth_blockNumber', []] as const),
    ...Array.from({ length: 6 }, () => ['eth_getBalance', [zero, 'latest']] as const),
    ...Array.from({ length: 4 }, () => ['eth_call', [{ to: zero, data: '0x' }, 'latest']] as const),
    ['eth_gasPrice', []],
    ['eth_chainId', []],
    ['eth_getBalance', ['nobody', 'latest']],
    ['eth_nothing', []],
  ]
  const socket = new WebSocket(urls.testnet.replace('http', 'ws'))
  await once(socket, 'open')
  for (const id of [1, 2, 3, 4]) {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_subscribe', params: ['newHeads'] }))
  }
  let asked = 0
  for (let minute = 58; minute >= 0; minute -= 1) {
    behindMs = minute * 60_000
    const count = minute % 20 === 7 ? 0 : 3 + Math.round(4 * (1 + Math.sin(minute / 6)))
    await Promise.all(
      Array.from({ length: count }, (_, at) => {
        const [method, params] = asks[(asked += 1) % asks.length] ?? ['eth_chainId', []]
        return callNode(urls[at % 5 === 0 ? 'mainnet' : 'testnet'], method, { params })
      }),
    )
    const hasBlock = minute % 3 === 0
    if (hasBlock) await callNode(pages.node, 'anvil_mine', { params: [`0x${(1 + (minute % 5)).toString(16)}`] })
    // The service counts notifications once a second or two.
    await new Promise((resolve) => setTimeout(resolve, hasBlock ? 2_000 : 60))
  }
  socket.close()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText(/^Status 200, /).waitFor()
  await shoot('app-setup-run', { isWhole: true })
  await api('POST', '/api/apps', { name: 'Explorer', useCase: 'Analytics', chain: 'ethereum', services: ['Node API'] })
  await api('POST', '/api/apps', {
    name: 'Shop <checkout>',
    description: 'Pays by card & coin. '.repeat(12).trim(),
    useCase: 'Payments',
    chain: 'ethereum',
    services: ['Node API'],
  })
  for (const [type, value, label] of [
    ['origin', 'https://portfolio.example', 'The site'],
    ['origin', 'https://*.preview.example', ''],
    ['ip', '203.0.113.0/24', 'Office'],
    ['method', 'eth_*', ''],
  ]) {
    await api('POST', `/api/apps/${appId}/allow-list`, { type, value, ...(label && { label }) })
  }
  const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' })
  await api('POST', `/api/apps/${appId}/jwt-keys`, { pem, label: 'Server 1' })
  const { version } = await api<{ version: number }>('GET', `/api/apps/${appId}`)
  await api('PATCH', `/api/apps/${appId}`, { version, jwt: { audience: 'portfolio', maxLifetimeS: 3_600 } })
  const { key } = await api<{ key: { id: string } }>('POST', '/api/keys', {
    name: 'Laptop',
    network: 'testnet',
    description: 'For trying things out',
  })
  await api('POST', '/api/keys', { name: 'Nightly job', network: 'mainnet' })
  const { url: address } = await api<{ url: string }>('POST', `/api/keys/${key.id}/reveal`, {})
  await Promise.all(Array.from({ length: 40 }, () => callNode(address)))
  await api('POST', '/api/tokens', { label: 'Deploy script', scopes: ['read', 'apps:write'], expiresAt: null })
  await new Promise((resolve) => setTimeout(resolve, 1_500))

  await go('/apps')
  await shoot('apps')
  await go(`/apps/${appId}/setup`)
  await shoot('app-setup-used')
  await go(`/apps/${appId}/metrics`)
  await shoot('app-metrics')
  await go(`/apps/${appId}/requests`)
  await page.getByRole('link', { name: 'eth_nothing' }).first().waitFor()
  await shoot('app-requests')
  await page.getByRole('link', { name: 'eth_nothing' }).first().click()
  await page.getByText('Request id').waitFor()
  await shoot('app-request')
  await go(`/apps/${appId}/networks`)
  await shoot('app-networks')
  for (const section of ['advanced', 'allow-list', 'jwt-keys', 'delete']) {
    await go(`/apps/${appId}/settings/${section}`)
    await shoot(`app-settings-${section}`)
  }
  await go('/keys')
  await shoot('keys')
  await go('/keys/new')
  await shoot('new-key')
  for (const place of ['setup', 'metrics', 'requests', 'settings']) {
    await go(`/keys/${key.id}/${place}`)
    await shoot(`key-${place}`)
  }
  for (const place of ['', '/alerts', '/tokens', '/audit', '/security']) {
    await go(`/account${place}`)
    await shoot(`account${place.replace('/', '-')}`)
  }
  const team = await api<{ id: string }>('POST', '/api/accounts', { name: 'Acme' })
  const choose = (id: string): Promise<unknown> => page.evaluate(`localStorage.setItem('keyrail-account', '${id}')`)
  await choose(team.id)
  await go('/account/members')
  for (const name of ['grace', 'margaret']) {
    await page.getByLabel('Email address').fill(`${name}@example.org`)
    await page.getByRole('button', { name: 'Create invite' }).click()
    await page.getByRole('button', { name: `Revoke the invite for ${name}@example.org` }).waitFor()
  }
  await go('/account/members')
  await shoot('account-members')
  await choose('')
  const { account } = await api<{ account: { id: string } }>('GET', '/api/session')
  await pages.service.accounts.operator.setUserRole({ id: account.id, role: 'operator' })
  await api('POST', '/api/admin/invites', { email: 'grace@example.org', days: 30 })
  await api('POST', '/api/admin/invites', {})
  for (const [name, place] of [
    ['operator-overview', ''],
    ['operator-users', '/users'],
    ['operator-teams', '/teams'],
    ['operator-team', `/teams/${team.id}`],
    ['operator-upstreams', '/upstreams'],
    ['operator-invites', '/invites'],
    ['operator-audit', '/audit'],
  ] as const) {
    await go(`/operator${place}`)
    await shoot(name)
  }
  await go('/nothing-here')
  await shoot('nowhere')

  await go('/account/security')
  await page.getByRole('button', { name: 'Add an authenticator app' }).click()
  const dialog = page.getByRole('dialog')
  const secret = (await dialog.locator('.address code').textContent()) ?? ''
  await shoot('second-factor-app')
  await dialog.getByLabel('Code', { exact: true }).fill(getAppCode(secret, Date.now() - behindMs))
  await dialog.getByRole('button', { name: 'Add the app' }).click()
  await page.getByText('Save these recovery codes').waitFor()
  await shoot('second-factor-codes')
  // The button that resets second factors is shown for users who have some.
  await go(`/operator/users/${account.id}`)
  await page.getByRole('button', { name: 'Remove the second factors' }).waitFor()
  await shoot('operator-user')
  await context.clearCookies()
  await go('/log-in')
  await page.getByLabel('Email address').fill('ada@example.org')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByLabel('Code').waitFor()
  await shoot('second-factor-log-in')
} finally {
  await browser.close()
  await pages.stop()
}
