const maxPort = 65_535

/**
 * Adds `KEYRAIL_PORT_OFFSET` to a port, so that several instances on one machine can share a config file. Port 0 stays any free port. It is an
 * entry point of its own, because the health check of a container does not load the service.
 * @param option - The option that holds the port, such as `listen.port`.
 * @param environment - The environment variables.
 * @returns The port. If the variable cannot be used, the problem with it and how to fix it.
 */
export const addPortOffset = (
  option: string,
  port: number,
  { KEYRAIL_PORT_OFFSET: text = '' }: Readonly<Record<string, string | undefined>>,
): { readonly port: number } | { readonly fix: string } => {
  const offset = text === '' ? 0 : /^\d+$/.test(text) ? Number(text) : NaN
  if (!(offset <= maxPort)) return { fix: `must be a whole number from 0 to ${maxPort}` }
  const sum = port === 0 ? 0 : port + offset
  return sum > maxPort ? { fix: `makes ${option} more than ${maxPort}: lower one of the two` } : { port: sum }
}
