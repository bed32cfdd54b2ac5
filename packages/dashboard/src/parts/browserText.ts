// In this order: Edge and Opera also name Chrome, which also names Safari.
const browsers: readonly (readonly [part: RegExp, name: string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
]

// Android also names Linux, and iPhones name Mac OS X.
const systems: readonly (readonly [part: RegExp, name: string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Names the browser and the system of a `User-Agent` header, such as `Firefox on Linux`. The header itself if it has none that is known. */
export const browserText = (userAgent: string | null): string => {
  if (userAgent === null || userAgent === '') return 'Unknown browser'
  const [browser, system] = [browsers, systems].map((all) => all.find(([part]) => part.test(userAgent))?.[1])
  if (browser === undefined) return system === undefined ? userAgent : `A browser on ${system}`
  return system === undefined ? browser : `${browser} on ${system}`
}
