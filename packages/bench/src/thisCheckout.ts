/** The top of this checkout. */
export const thisCheckout: URL = new URL('../../../', import.meta.url)
