/**
 * What a browser loads: the user's components and `render`, which the official clients call. They hand over the id of
 * the element to render under, and take the component by the store that they put on the window (CONTRACT §2, `/ui`).
 */
export function entryProgram(file: string): string {
  return `import components from ${JSON.stringify(file)};

export function render(name, shadowRootId) {
  const component = components[name];
  if (!component) {
    throw new Error('There is no component "' + name + '", only: ' + Object.keys(components).join(', '));
  }
  const element = document.createElement('div');
  document.getElementById(shadowRootId).shadowRoot.appendChild(element);
  window[Symbol.for('LGUI_EXT_STORE')].respond(shadowRootId, component, element);
}
`;
}

/** The variable in which a page finds the program. */
export function globalName(name: string): string {
  return `__LGUI_${name.replace(/[^a-zA-Z0-9]/g, '_')}`;
}
