// Before the first paint. No inline script: the policy allows none.
try {
  // A page in the other colors never flashes.
  const theme = localStorage.getItem('keyrail-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage, the page has the colors of the system.
}
// The shape of the page while it loads: pages without a log-in have no navigation.
if (/^\/(?:log-in|second-factor|sign-up|reset-password|forgot-password|verify-email|join)\b/.test(location.pathname))
  document.documentElement.dataset.shell = 'alone'
