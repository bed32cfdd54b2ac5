// Before the first paint, so that a page in the other colours never flashes. No inline script: the policy allows none.
try {
  const theme = localStorage.getItem('keyrail-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Where storage is closed, the system's colours hold.
}
