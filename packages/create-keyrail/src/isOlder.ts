/** Whether a version such as `22.9.0` is older than another one, which can be shorter, such as `22.18`. */
export const isOlder = (version: string, other: string): boolean =>
  version.localeCompare(other, 'en', { numeric: true }) < 0
