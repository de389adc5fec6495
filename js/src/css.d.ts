// esbuild bundles style sheets as text (--loader:.css=text).
declare module "*.css" {
  const text: string;
  export default text;
}
