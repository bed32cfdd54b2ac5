import { chromium } from 'playwright-core'
import { serveSite } from './inspectPages.ts'
import { getProgram } from '../scripts/externalPrograms.ts'
const [site, ...pages] = process.argv.slice(2)
const { url, server } = await serveSite(site)
const browser = await chromium.launch({ executablePath: getProgram('chromium'), args: ['--no-sandbox','--disable-gpu'] })
for (const scheme of ['light','dark']) for (const width of [1440,390]) {
  const context = await browser.newContext({ viewport: { width, height: width===390?844:1000 }, colorScheme: scheme })
  const page = await context.newPage()
  page.on('console', m => m.type()==='error' && console.log(m.text()))
  page.on('pageerror', e => console.log(e.message))
  for (const p of pages) { await page.goto(url+'/'+p, { waitUntil: 'networkidle' }); await page.screenshot({ path: `/tmp/shot-${p.replace(/\W/g,'_')}-${width}-${scheme}.png` , fullPage: p==='index.html' && width===390}) }
  await context.close()
}
await browser.close(); server.close()
