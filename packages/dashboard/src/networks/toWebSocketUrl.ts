/** Converts the URL of a network to that of its WebSocket: `https://…` to `wss://…`. */
export const toWebSocketUrl = (url: string): string => url.replace(/^http/, 'ws')
