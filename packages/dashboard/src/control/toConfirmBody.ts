/** The body of a request that the user may have to confirm with the password. */
export const toConfirmBody = (password: string | undefined): { readonly password?: string } =>
  password === undefined ? {} : { password }
