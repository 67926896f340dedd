// Draws every chart of the page from the Vega-Lite specification that stands inside it.
function drawCharts() {
  return Promise.all(
    [...document.querySelectorAll("div.chart")].map(async (chart) => {
      const spec = JSON.parse(chart.querySelector("script").textContent);
      await vegaEmbed(chart, spec, { mode: "vega-lite", renderer: "svg", actions: false });
    }),
  );
}
