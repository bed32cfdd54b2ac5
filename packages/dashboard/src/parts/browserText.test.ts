import { expect, test } from 'vitest'
import { browserText } from './browserText.ts'

const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko)'

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0', 'Firefox on Linux'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/142.0 Safari/537.36`, 'Chrome on Windows'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/142.0 Safari/537.36 Edg/142.0`, 'Edge on Windows'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1 Version/26.0 Safari/605.1', 'Safari on macOS'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 CriOS/142.0 Mobile', 'Chrome on iPhone'],
  [`Mozilla/5.0 (Linux; Android 16; K) ${webKit} Chrome/142.0 Mobile Safari/537.36`, 'Chrome on Android'],
  ['curl/8.17.0', 'curl'],
  ['python-requests/2.32', 'python-requests/2.32'],
  [null, 'Unknown browser'],
])('names the browser of %s', (userAgent, name) => {
  expect(browserText(userAgent)).toBe(name)
})
